import { useState } from "preact/hooks";
import { listKeys } from "../../api/keys.ts";
import { type SignedLink, signLink } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { formatFullTime } from "../../ui/format.ts";
import { SelectField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { LINK_LIFETIMES, parseQuery } from "./link.ts";
import { texts } from "./texts.ts";

/** Form that signs a URL of the page service for public use. `path` is the path that the link opens. */
export function LinkForm({ path }: { readonly path: string }) {
  const { data, error, reload } = useLoaded(listKeys);
  const keys = (data?.items ?? []).filter(({ disabled }) => !disabled);
  const [chosen, setChosen] = useState("");
  const [lifetime, setLifetime] = useState("30");
  const [link, setLink] = useState<({ readonly of: string } & SignedLink) | null>(null);
  const signing = useAsyncAction();
  const key = chosen || (keys[0]?.id ?? "");
  const inputKey = `${path} ${key} ${lifetime}`;
  const sign = () =>
    signing.run(async () => {
      setLink(null);
      const signed = await signLink("thumbs", parseQuery(path), key, Number(lifetime) * 86_400);
      setLink({ of: inputKey, ...signed });
    });
  return (
    <details>
      <summary>{texts.signedLink}</summary>
      <div class="stack">
        <p class="hint">{texts.signedLinkLead}</p>
        <Problem error={error} retry={reload} />
        <div class="setting-grid">
          <SelectField
            label={words.key}
            value={key}
            onChange={setChosen}
            choices={keys.map(({ id, name, key: mask }) => [id, name || mask] as const)}
          />
          <SelectField
            label={texts.validFor}
            value={lifetime}
            onChange={setLifetime}
            choices={LINK_LIFETIMES}
          />
        </div>
        <div>
          <Button
            needs="operator"
            busy={signing.busy}
            disabled={key === "" || parseQuery(path)["url"] === ""}
            onClick={() => void sign()}
          >
            {texts.signLink}
          </Button>
        </div>
        <Problem error={signing.error} />
        {/* Hide a link that was signed for other options or another key. */}
        {link?.of === inputKey && (
          <>
            <CodeBlock label={texts.signedLink} text={link.url} />
            <p class="muted">{texts.validUntil(formatFullTime(link.expires * 1_000))}</p>
          </>
        )}
      </div>
    </details>
  );
}
