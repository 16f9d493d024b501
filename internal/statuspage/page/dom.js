// The only place where elements are made. Text is set as text.

export const $ = id => document.getElementById(id);

const svgSpace = "http://www.w3.org/2000/svg";

// el makes an element: el("p", {class: "soft"}, "text", other). A handler is given
// as onclick and the like, a property that is no attribute as value and title.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(c => c !== null && c !== undefined && c !== false));
  return node;
}

// say sets a text if it is another one: a screen reader hears of changes only.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// show says a text, or hides what has none.
export function show(node, text) {
  say(node, text);
  node.hidden = text === "";
}

// code is a command to be copied: one click chooses all of it.
export const code = command => el("code", { class: "command" }, command);

const news = $("news");

// announce tells who does not see the page.
export function announce(text) {
  news.append(el("p", {}, text));
  while (news.childElementCount > 5) news.firstElementChild.remove();
}
