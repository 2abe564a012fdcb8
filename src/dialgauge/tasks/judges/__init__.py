"""Do graders agree, with each other and with themselves, and how much of a pass rate is the grader?"""
