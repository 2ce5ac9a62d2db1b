"""Pure functions over text: strings in, values out."""
