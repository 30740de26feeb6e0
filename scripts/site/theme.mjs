// VitePress's own theme with a style sheet. main.mjs copies both into the folder that it creates.
import DefaultTheme from "vitepress/theme";
import "./style.css";

export default DefaultTheme;
