"""stub"""
def script(settings, layer, head): return ""
