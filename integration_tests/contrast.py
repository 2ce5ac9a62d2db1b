"""Words of a page that are too faint, as a browser draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

# The contrast of WCAG 2.2, 1.4.3: words on what is painted behind them, transparency counted. What
# stands on a dot of a picture is held against the dot, other words in a picture against its ground.
_SCRIPT = """
const parts = colour => {
  const [red, green, blue, alpha] = colour.match(/[0-9.]+/g).map(Number);
  return [red, green, blue, alpha ?? 1];
};
const over = (top, under) => [0, 1, 2].map(at => top[at] * top[3] + under[at] * (1 - top[3]));
const luminance = colour => colour.map(part => part / 255)
  .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
const above = element => element ? [...above(element.parentElement), element] : [];
const ground = element => above(element).reduce(
  (under, one) => over(parts(getComputedStyle(one).backgroundColor), under), [255, 255, 255]);

function words(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const {width, height} = range.getBoundingClientRect();
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() && width && height && !element.closest('title, style'))
      found.push(element);
  }
  return found;
}

const faint = new Set();
for (const root of document.querySelectorAll(arguments[0]))
  for (const element of words(root)) {
    const style = getComputedStyle(element), picture = element.ownerSVGElement;
    const [red, green, blue, alpha] = parts(picture ? style.fill : style.color);
    const opacity = above(element).reduce((all, one) => all * getComputedStyle(one).opacity, alpha);
    if (opacity < 0.15) continue;  // drawn only when it is pointed at
    const dot = element.previousElementSibling;
    const behind = dot?.tagName === 'circle' ? dot : picture?.querySelector('rect');
    const under = ground(element);
    const back = behind ? over(parts(getComputedStyle(behind).fill), under) : under;
    const seen = over([red, green, blue, opacity], back);
    const [dark, light] = [luminance(seen), luminance(back)].sort((one, other) => one - other);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize), isBold = style.fontWeight >= 700;
    const isLarge = size >= 24 || (isBold && size >= 18.66);
    if (contrast < (isLarge ? 3 : 4.5))
      faint.add(`${contrast.toFixed(2)} ${element.tagName}.${element.className.baseVal ??
        element.className}: ${element.textContent.trim().slice(0, 40)}`);
  }
return [...faint];
"""


def faint_words(driver: WebDriver, selector: str) -> list[str]:
    """Return the words in the elements of a CSS selector that have too little contrast."""
    found = driver.execute_script(_SCRIPT, selector)
    assert isinstance(found, list)
    return found
