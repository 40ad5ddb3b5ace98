"""Who is right: designs of which every column is graded, methods, and what share of what they find is false.

``python -m benchmarks.truth.run`` fits, and appends a line of JSON per fit to a file; ``python -m
benchmarks.truth.table`` reads the files and writes ``docs/truth.md``. Competitors need packages of their own:
``requirements.txt`` beside this file names them.

===============  ======================================================================================
``record``       what a design is, and the registry of all of them
``designs``      designs that may be used for choosing
``networks``     two networks of real biology
``noise``        pure noise, and rows that belong together
``reserved``     designs that may not: for the report alone
``methods``      this library with its options, and the competitors
``run``          fits
``table``        figures of the results, and the page
===============  ======================================================================================

Choose on seeds below 1000, report on seeds from 1000 on.
"""
