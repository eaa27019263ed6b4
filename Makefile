# make run    makes .venv, installs what the app needs, serves it
# make test   installs what the tests need, runs them all
# make bench  prints the speed table, writes tests/bench/results.json
# make train  makes every model file from its seed, measures them, writes their card; some minutes
# make eval   measures the model files, prints the gates, fails where one does not hold
# make lint   ruff
# Other interpreter: make run PYTHON=python3.12. Other port: make run ARGS="--server.port 8600"
# Some tests only: make test ARGS="tests/unit -x"

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
ARGS   ?=

.DELETE_ON_ERROR:
.PHONY: run test bench train eval lint clean

run: $(VENV)/.app
	$(BIN)/streamlit run app.py $(ARGS)

test: $(VENV)/.tests
	$(BIN)/python -m pytest $(ARGS)

bench: $(VENV)/.tests
	$(BIN)/python -m tests.bench $(ARGS)

train: $(VENV)/.app
	$(BIN)/python -m attention train
	$(BIN)/python -m attention eval

eval: $(VENV)/.app
	$(BIN)/python -m attention eval

lint: $(VENV)/.tests
	$(BIN)/ruff check .

clean:
	rm -rf $(VENV)

# A stamp for each stage, so that a second call starts at once and an install cut short is done again.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, {sys.executable} is {v}: try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.app: requirements.txt $(VENV)/.made
	$(BIN)/python -m pip install -r requirements.txt
	@touch $@

$(VENV)/.tests: tests/requirements.txt $(VENV)/.app
	$(BIN)/python -m pip install -r tests/requirements.txt
	@touch $@
