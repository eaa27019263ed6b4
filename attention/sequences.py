"""Documents without a template: a random sequence that repeats, and brackets. Rows and keys are 0-based."""

from random import Random

from .lexicon import BRACKETS, LEXICON, SLOTS, VARIABLES
