"""The charts of a report, drawn with Plotly."""
