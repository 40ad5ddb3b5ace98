"""How cost grows: wide and tall data, memory, a cluster; and what it was before."""
