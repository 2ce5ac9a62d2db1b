"""How values look in a notebook and in a terminal: what is shown, as HTML, as plain text."""
