import "./ui/locale.ts";
import { takeSignInResult } from "./identity-sign-in.ts";
import { loadTranslation } from "./languages/load-translation.ts";
import "./styles/main.css";

takeSignInResult();
await loadTranslation();
const { showConsole } = await import("./app.tsx");
const root = document.getElementById("app");
if (root !== null) showConsole(root);
