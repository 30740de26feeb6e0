import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { readOwnSession } from "./api/administrators.ts";
import { signOut } from "./api/login.ts";
import { ConnectionNotice } from "./connection-notice.tsx";
import { KeyboardOverlays } from "./keyboard-overlays.tsx";
import { chooseLanguage, LANGUAGES, language } from "./language.ts";
import { setOwnUser, useHasRole } from "./own-user.ts";
import { findPage, NAVIGATION } from "./pages.tsx";
import { formatHref, useAddress } from "./routing.ts";
import { currentOverlay } from "./shortcuts.ts";
import { useStore } from "./store.ts";
import { texts } from "./texts.ts";
import { Button } from "./ui/button.tsx";
import { Icon } from "./ui/icon.tsx";
import { useLoaded } from "./ui/loading/use-loaded.ts";
import { nextTheme, theme } from "./ui/theme.ts";

/** Modifier key of shortcuts on this operating system. */
const MODIFIER = /Mac|iP(?:hone|ad)/.test(navigator.userAgent) ? "⌘" : "Ctrl";
const THEME_ICONS = { auto: "half", light: "sun", dark: "moon" } as const;

function Navigation({ current }: { readonly current: string }) {
  const isOwner = useHasRole("owner");
  const list = useRef<HTMLElement>(null);
  // A long list scrolls: keep the current page in view. `scrollIntoView` would also move the place from which Tab goes on.
  useEffect(() => {
    void current;
    const nav = list.current;
    const link = nav?.querySelector('[aria-current="page"]')?.getBoundingClientRect();
    const frame = nav?.getBoundingClientRect();
    if (!nav || !link || !frame || (link.top >= frame.top && link.bottom <= frame.bottom)) return;
    nav.scrollTop += link.top - frame.top - frame.height / 2;
  }, [current]);
  return (
    <nav ref={list} aria-label={texts.pages}>
      {NAVIGATION.map(({ title, pages }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {pages.map(
              ({ id, name, ownersOnly }) =>
                (isOwner || ownersOnly !== true || id === current) && (
                  <li key={id}>
                    <a href={formatHref(id)} aria-current={id === current ? "page" : undefined}>
                      <Icon name={id} />
                      {name}
                    </a>
                  </li>
                ),
            )}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Chooses the console's language. */
function LanguageChoice() {
  return (
    <label class="language">
      <Icon name="language" />
      <span class="hidden-text">{texts.language}</span>
      <select value={language} onChange={(event) => chooseLanguage(event.currentTarget.value)}>
        {Object.entries(LANGUAGES).map(([id, name]) => (
          <option key={id} value={id} lang={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name of the administrator who is signed in. Nothing for the holder of the admin key. */
function SignedIn() {
  const { data } = useLoaded(readOwnSession);
  useEffect(() => {
    if (data !== null) setOwnUser(data);
  }, [data]);
  if (data === null || data.administrator === null) return null;
  return <p class="muted">{texts.signedInAs(`${data.administrator} (${data.role})`)}</p>;
}

/** The frame around every page: navigation, theme and sign-out. */
export function Shell() {
  const { page, detail } = useAddress();
  const [open, setOpen] = useState(false);
  const chosen = useStore(theme);
  const main = useRef<HTMLElement>(null);
  const menu = useRef<HTMLButtonElement>(null);
  const currentPage = findPage(page);

  // A layout effect, because it runs before painting. A later effect could close a menu that the user has just opened, and
  // miss Escape.
  useLayoutEffect(() => {
    void page;
    setOpen(false);
    scrollTo(0, 0);
  }, [page]);

  useLayoutEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      menu.current?.focus();
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [open]);

  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {texts.skipToPage}
      </button>
      <header class="topbar">
        <a class="brand" href={formatHref("overview")}>
          <span class="brand-mark" aria-hidden="true" />
          Polygate
        </a>
        <button
          ref={menu}
          type="button"
          class="button quiet icon"
          aria-label={texts.menu}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? "close" : "menu"} />
        </button>
      </header>
      <aside class={open ? "side open" : "side"} aria-label={texts.console}>
        <a class="brand" href={formatHref("overview")}>
          <span class="brand-mark" aria-hidden="true" />
          Polygate
        </a>
        <Button kind="quiet" title={texts.searchEverything} onClick={() => currentOverlay.set("search")}>
          <Icon name="search" />
          {texts.search} <kbd>{MODIFIER} K</kbd>
        </Button>
        <Navigation current={currentPage.id} />
        <div class="side-foot">
          <Button kind="quiet" onClick={() => currentOverlay.set("help")}>
            <Icon name="keyboard" />
            {texts.shortcuts} <kbd>?</kbd>
          </Button>
          <Button kind="quiet" onClick={nextTheme} title={texts.themeHint}>
            <Icon name={THEME_ICONS[chosen]} />
            {texts.themes[chosen]}
          </Button>
          <LanguageChoice />
          <SignedIn />
          <Button kind="quiet" onClick={signOut}>
            <Icon name="out" />
            {texts.signOut}
          </Button>
        </div>
      </aside>
      <main ref={main} tabIndex={-1}>
        <ConnectionNotice />
        {/* The key remounts the page only when another page is selected. */}
        <currentPage.view key={currentPage.id} detail={detail} />
      </main>
      <KeyboardOverlays />
    </div>
  );
}
