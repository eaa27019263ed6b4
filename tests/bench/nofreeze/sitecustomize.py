"""On the path of a server that is measured without `gc.freeze`: the call stays, its effect is gone."""

import gc

gc.freeze = lambda: None
