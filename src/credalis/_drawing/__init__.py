"""What pictures have in common, whether matplotlib draws them or Plotly.

``inputs`` checks what is drawn, ``palette`` has colours, markers and hatches,
``legibility`` says how much a picture can hold, ``projection`` brings objects into the
plane, ``pairs`` chooses the pairs of a Shepard diagram. ``axes`` and ``labels`` are for
matplotlib alone, which is imported when something is drawn.
"""
