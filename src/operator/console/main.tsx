import "./ui/locale.ts";
import { loadTranslation } from "./languages/load-translation.ts";
import "./styles/main.css";

await loadTranslation();
const { showConsole } = await import("./app.tsx");
const root = document.getElementById("app");
if (root !== null) showConsole(root);
