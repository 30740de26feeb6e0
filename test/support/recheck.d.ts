/** The build of `recheck` that is all JavaScript: the main one looks for a Java runtime and native programs. */
declare module "recheck/lib/browser.js" {
  export { checkSync } from "recheck";
}
