"""The error of a setting that cannot be used, with a sentence for each way to go wrong."""

_SENTENCES = {
    "empty_text": "text: {value} arrived, which holds no token; at least one word or character is needed",
    "not_text": "text: {value} arrived; a string is needed",
    "too_many_characters": "text: {characters} characters arrived; at most {limit} are taken",
    "too_many_tokens": "text: {tokens} tokens arrived; at most {limit} are taken",
    "positions_end": "text: {tokens} tokens arrived; the positions that source {source} learned end at {limit}",
    "not_a_choice": "{field}: {value} arrived; needed one of {choices}",
    "not_a_number": "{field}: {value} arrived; a {kind} from {low} to {high} is needed",
    "out_of_range": "{field}: {value} arrived; a {kind} from {low} to {high} is needed",
    "odd_d_k": "d_k: {d_k} arrived; positions rotary turns pairs of features and needs an even d_k",
    "kv_heads_divide": "kv_heads: {kv_heads} arrived; a number that divides heads = {heads} is needed",
    "window_width": "width: {width} arrived; mask window counts the query itself and needs at least 1",
    "prompt_range": "prompt: {prompt} arrived; needed 1 to the number of tokens, {tokens}",
    "too_large": "text: heads x layers x tokens^2 = {heads} x {layers} x {tokens}^2 = {size} arrived; "
    "at most {limit} fits",
    "unknown_break": "breaks: {value} arrived; needed any of {choices}",
    "unknown_head": "{field}: {value} arrived; needed layer.head, any of {choices}",
    "generate_random": "generate: {generate} arrived; source random has no next token and needs 0",
    "generate_encoder": "generate: {generate} arrived; source {source} fills words in, has no next token and needs 0",
    "trained_only": "{field}: {value} arrived; source random has none of it, a trained source is needed",
    "missing_weights": "source: {source} arrived; its file {file} cannot be used ({reason})",
    "corrupt_weights": "source: {source} arrived; its file {file} cannot be used ({reason})",
    "overflow": "dtype: {dtype} arrived and cannot hold {culprit}; a wider dtype, a smaller d_k or a higher "
    "temperature is needed",
}


class SettingsError(ValueError):
    """A setting that cannot be used. `field` and `code` name the trouble, `values` fill a translation."""

    def __init__(self, field: str, code: str, **values):
        self.field, self.code, self.values = field, code, values
        spelled = {name: _spell(name, value) for name, value in values.items()}
        super().__init__(_SENTENCES[code].format(field=field, **spelled))


def _spell(name: str, value) -> str:
    """A value for an English sentence, on one line and never long."""
    if name == "choices":
        return ", ".join(value)
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a whole number of {value.bit_length()} bits"
    spelled = repr(value) if name == "value" else " ".join(str(value).split())
    return spelled if len(spelled) <= 80 else spelled[:77] + "..."
