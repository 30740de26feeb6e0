import "../ui/locale.ts";
import { render } from "preact";
import { KeyPage } from "./key-page.tsx";
import "../styles/key-page.css";

const root = document.getElementById("app");
if (root !== null) render(<KeyPage />, root);
