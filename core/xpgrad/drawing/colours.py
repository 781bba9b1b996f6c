"""The colours of pictures: each box has its own ground and dark ink, and lines are grey, so any page can hold them."""

INK = "#1b1f24"
LINE = "#7d8590"

FILLS = {
    "variable": "#e4e7eb",
    "parameter": "#ffe2ad",
    "function": "#b6d0ff",
    "input": "#cdeccf",
    "output": "#ffd0cc",
    "repeated": "#e6d3fa",
    "more": "#f4f5f7",
    "link": "#eef2fa",
}
