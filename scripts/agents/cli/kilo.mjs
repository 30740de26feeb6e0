import { createOpencode } from "./opencode.mjs";

export const kilo = createOpencode("kilo", "Kilo CLI", ["--auto"]);
