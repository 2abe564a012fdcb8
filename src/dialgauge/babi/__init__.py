"""The restaurant world of "Learning End-to-End Goal-Oriented Dialog" (Bordes, Boureau and Weston, ICLR 2017).

Knowledge base, phrases, the simulator of tasks 1 to 5, the rule bot that solves them, the conversion of DSTC2 to
task 6, and the anonymiser for chat logs. All of it also works in a world of one's own, read from a small YAML file.
"""
