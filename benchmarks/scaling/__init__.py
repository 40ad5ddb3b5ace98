"""How cost grows: wide and tall data, and a GPU."""
