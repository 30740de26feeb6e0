// Records the first steps in the console as an animation: add a provider, fetch its models, ask in the playground, look at the
// history. Each action is one frame with a fixed duration, so a slow machine makes the same recording.
import { writeFileSync } from "node:fs";
import { startChatBackend } from "../test/support/chat-backend.ts";
import { animate } from "./animated-webp.ts";

const SIZE = { width: 1280, height: 760 };
const QUALITY = 55;
/** Milliseconds that a frame is shown. */
const TYPED = 90;
const GLANCE = 450;
const LOOK = 1_300;

/** Draws where the mouse is, on top of an open dialog, too. */
function drawPointer({ x, y }) {
  const dot = document.getElementById("pointer") ?? document.createElement("div");
  dot.id = "pointer";
  Object.assign(dot.style, {
    background: "#e2483d99",
    borderRadius: "50%",
    height: "20px",
    width: "20px",
    left: `${x - 10}px`,
    pointerEvents: "none",
    position: "fixed",
    top: `${y - 10}px`,
    zIndex: "99",
  });
  (document.querySelector("dialog[open]") ?? document.body).append(dot);
}

/** Records the signed-in `page`, and writes the animation to `file`. */
export async function recordConsole(page, file) {
  const engine = await startChatBackend({
    models: ["qwen3:8b", "gemma3:4b"],
    says: "The Rhine, the Rhône and the Po.",
  });
  const devtools = await page.context().newCDPSession(page);
  const frames = [];
  const show = async (ms) => {
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
    const picture = Buffer.from(data, "base64");
    const last = frames.at(-1);
    if (last?.picture.equals(picture)) last.ms += ms;
    else frames.push({ picture, ms });
  };
  const click = async (locator, ms = GLANCE) => {
    await locator.scrollIntoViewIfNeeded();
    const box = await locator.boundingBox();
    await page.evaluate(drawPointer, { x: box.x + Math.min(box.width / 2, 60), y: box.y + box.height / 2 });
    await show(GLANCE);
    await locator.click();
    await page.waitForTimeout(300);
    await show(ms);
  };
  const type = async (locator, text) => {
    await locator.focus();
    const step = Math.ceil(text.length / 5);
    for (let end = step; end < text.length + step; end += step) {
      await locator.fill(text.slice(0, end));
      await show(TYPED);
    }
  };
  try {
    await page.setViewportSize(SIZE);
    const menu = (name) => page.getByRole("navigation").getByRole("link", { name, exact: true });
    const dialog = page.getByRole("dialog");
    await click(menu("Providers"), LOOK);
    await click(page.getByRole("button", { name: "Add provider" }).first());
    await type(dialog.getByLabel("ID", { exact: true }), "engine");
    await type(dialog.getByLabel("Address"), engine.url);
    await type(dialog.getByLabel("Token", { exact: true }), "engine-token-0001");
    await click(dialog.getByRole("button", { name: "Add provider" }));
    await dialog.waitFor({ state: "detached" });
    await click(page.getByRole("button", { name: "Fetch models" }).first());
    await dialog.getByLabel("qwen3:8b").waitFor();
    await click(dialog.getByRole("button", { name: /^Add all/ }), LOOK);
    await dialog.waitFor({ state: "detached" });
    // The messages would cover the next page.
    await page.getByText("2 models added").waitFor({ state: "hidden" });
    await click(menu("Playground"));
    await page.getByLabel("Model", { exact: true }).selectOption("engine/qwen3:8b");
    await type(page.getByLabel("Message"), "Which rivers rise in the Alps?");
    await click(page.getByRole("button", { name: "Send", exact: true }));
    await page.getByText("The Rhine, the").first().waitFor();
    await show(LOOK);
    await click(menu("History"), LOOK);
    await click(page.getByRole("link", { name: "Which rivers rise in the Alps?" }).first());
    await page.getByRole("region", { name: "Answer" }).waitFor();
    await show(2 * LOOK);
  } finally {
    await engine.close();
  }
  writeFileSync(file, animate(frames, SIZE.width, SIZE.height));
  const seconds = frames.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  console.log(`${frames.length} frames, ${seconds} s`);
}
