// Uses the page in the frame, and writes what it saw.
"use strict";
const frame = document.querySelector("iframe");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function drive() {
  const w = frame.contentWindow, d = frame.contentDocument, saw = {};
  for (let i = 0; i < 100 && d.documentElement.dataset.layout !== "done"; i++) await sleep(100);
  const rows = () => [...d.querySelectorAll("#list .row bdi.name")].map((b) => b.textContent).sort();
  const type = (text) => {
    d.getElementById("search").value = text;
    d.getElementById("search").dispatchEvent(new w.Event("input"));
  };
  const box = (name) => [...d.querySelectorAll(".choice")].find((c) => c.querySelector(".name").textContent === name).querySelector("input");
  const key = (target, key) => target.dispatchEvent(new w.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const heading = () => d.querySelector("#details h2").textContent;

  saw.summary = d.getElementById("summary").textContent;
  type("BABBAGE");
  saw.search = rows();
  saw.searchStatus = d.getElementById("status").textContent;
  type("");
  box("person").click();
  saw.withoutPersons = rows();
  box("person").click();
  box("letters").click();
  saw.onlyDiary = rows();
  box("letters").click();
  saw.everything = rows();

  // A click on the drawing where there is a relationship and no entity.
  const canvas = d.getElementById("canvas"), at = canvas.getBoundingClientRect();
  let point = null;
  for (let x = 0; x < at.width && !point; x += 3) {
    for (let y = 0; y < at.height && !point; y += 3) {
      if (w.nearestEntity(x, y) === null && w.nearestLink(x, y) !== null) point = { x, y };
    }
  }
  for (const kind of ["pointerdown", "pointerup"]) {
    canvas.dispatchEvent(new w.PointerEvent(kind, { pointerId: 1, button: 0, clientX: at.left + point.x, clientY: at.top + point.y, bubbles: true }));
  }
  saw.edgeHeading = heading();
  saw.edgeQuote = d.querySelector("#details mark").textContent;
  saw.edgeContext = d.querySelector("#details blockquote").textContent;
  saw.edgeSource = d.querySelector("#details figcaption").textContent;

  d.querySelector("#list .row").click(); // as the keyboard does
  saw.listHeading = heading();
  saw.focusOnPanel = d.activeElement === d.querySelector("#details h2");
  key(d.body, "/");
  saw.slash = d.activeElement.id;
  key(d.body, "Escape");
  saw.escape = heading();
  // Zoomed far in on its middle, the drawing has nothing left in its corner.
  const drawnAt = () => { for (let x = 0; x < at.width; x += 5) for (let y = 0; y < at.height; y += 5) if (w.nearestEntity(x, y) !== null) return x + "," + y; return "none"; };
  const before = drawnAt();
  for (let i = 0; i < 3; i++) key(canvas, "+");
  saw.zoomed = drawnAt() !== before;
  return saw;
}

frame.addEventListener("load", async () => {
  const result = document.getElementById("result");
  try {
    result.textContent = JSON.stringify(await drive());
  } catch (error) {
    result.textContent = "failed: " + error.stack;
  }
});
