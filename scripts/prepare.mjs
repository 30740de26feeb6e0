// Runs before `npm start` and `npm test`: generates build outputs and skips those that are up to date.
import { writeDevelopmentConfig } from "./development.mjs";

const steps = [
  ["the development configuration", async () => writeDevelopmentConfig()],
  ["the browser", async () => (await import("./ensure-browser.mjs")).ensureBrowser()],
  ["the technology rules", async () => (await import("./build-technologies.mjs")).buildTechnologies()],
  ["the block lists", async () => (await import("./build-block-lists.mjs")).buildBlockLists()],
  ["the console", async () => (await import("./build-console.mjs")).buildConsole()],
];

for (const [name, run] of steps) {
  try {
    await run();
  } catch (error) {
    console.warn(`Could not prepare ${name}: ${error instanceof Error ? error.message : error}`);
  }
}
