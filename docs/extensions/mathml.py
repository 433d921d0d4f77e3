"""Formulas as MathML, which browsers show by themselves: no script, no download."""

from docutils import nodes
from latex2mathml.converter import convert


def _inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator, node):
    attributes = translator.starttag(node, "div", CLASS="math-block")
    formula = convert(node.astext(), display="block")
    translator.body.append(f"{attributes}{formula}</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Make it the renderer of Sphinx."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
