import { readFirstKey } from "../../api/config.ts";
import { addKey } from "../../api/keys.ts";
import { useHasRole } from "../../own-user.ts";
import { formatHref } from "../../routing.ts";
import { generateKey } from "../../shared/generate-key.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { texts } from "./texts.ts";

const HOUR_MS = 3_600_000;

/**
 * Whether requests can be sent only after the user has named a key. Owners can read the first configured key; others cannot
 * read any.
 *
 * @param key the key that the user has named; empty: none
 */
export function useNeedsKey(key: string): boolean {
  const isOwner = useHasRole("owner");
  const { data } = useLoaded(async () => (isOwner ? readFirstKey() : ""), String(isOwner));
  return key === "" && data === "";
}

/** Adds a key that expires in an hour. Returns it. */
async function makeKey(): Promise<string> {
  const key = generateKey();
  const expires = Date.now() + HOUR_MS;
  await addKey({ key, name: texts.keyName, remark: texts.keyRemark, expires });
  return key;
}

/** Says that a key is needed, and makes one that expires soon. */
export function KeyNotice({ onKey }: { readonly onKey: (key: string) => void }) {
  const { busy, error, run } = useAsyncAction();
  const canMake = useHasRole("operator");
  const make = () =>
    run(async () => {
      onKey(await makeKey());
      showToast(texts.keyMade);
    });
  if (!canMake) return <Notice kind="info">{texts.viewersAskForKey}</Notice>;
  return (
    <>
      <Notice
        kind="info"
        action={
          <Button busy={busy} onClick={() => void make()}>
            {texts.makeKey}
          </Button>
        }
      >
        {texts.keyIsNeeded} <a href={formatHref("keys")}>{texts.toKeys}</a>
      </Notice>
      <Problem error={error} />
    </>
  );
}
