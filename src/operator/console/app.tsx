import { render } from "preact";
import { session } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignIn, SignInAgain } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { Toasts } from "./ui/toasts.tsx";

/** The console: the sign-in, or the pages. When a session expires, the sign-in appears over the page, which stays. */
function App() {
  const state = useStore(session);
  if (state === "out") return <SignIn />;
  return (
    <>
      <Shell />
      {state === "expired" && <SignInAgain />}
      <Toasts />
    </>
  );
}

export function showConsole(root: HTMLElement): void {
  render(<App />, root);
}
