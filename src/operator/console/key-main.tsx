import "./ui/locale.ts";
import { loadTranslation } from "./languages/load-translation.ts";
import "./styles/key-page.css";

await loadTranslation();
const { showKeyPage } = await import("./key-page/key-page.tsx");
const root = document.getElementById("app");
if (root !== null) showKeyPage(root);
