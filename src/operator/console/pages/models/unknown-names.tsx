import { useState } from "preact/hooks";
import { DEFAULT_PROVIDER } from "../../../../core/config/provider-id.ts";
import { listProviders } from "../../api/providers.ts";
import { changeSettings, type Settings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/forms/field.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface UnknownNamesProps {
  /** Id of the provider that gets unknown model names; empty: the gateway rejects them. */
  readonly present: string;
  readonly onSaved: (settings: Settings) => void;
}

/** Setting for unknown model names. */
export function UnknownNames({ present, onSaved }: UnknownNamesProps) {
  const providers = useLoaded(listProviders).data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const { busy, error, onSubmit } = useAsyncAction();
  const value = chosen ?? present;
  const save = async () => {
    onSaved(await changeSettings({ unknown_models: { provider: value } }));
    setChosen(null);
    showToast(value === "" ? texts.unknownNamesRefused : texts.unknownNamesPassedOn);
  };
  const ids = providers.filter(({ read_only }) => !read_only).map(({ id }) => id);
  const choices = [...new Set([...ids, present])].filter((id) => id !== "" && id !== DEFAULT_PROVIDER);
  return (
    <Panel title={texts.unknownModelNames}>
      <LeaveGuard unsaved={value === present ? "" : texts.unsavedChange} />
      <form class="inline-form" onSubmit={onSubmit(save)}>
        <SelectField
          label={texts.requestsWithUnknownNames}
          value={value}
          onChange={setChosen}
          choices={[
            ["", texts.refused],
            [DEFAULT_PROVIDER, texts.sentToDefaultProvider],
            ...choices.map((id) => [id, texts.sentTo(id)] as const),
          ]}
        />
        <Button type="submit" needs="operator" busy={busy} disabled={value === present}>
          {words.save}
        </Button>
        {value !== "" && <p class="hint">{texts.unknownNamesHint}</p>}
      </form>
      <Problem error={error} />
    </Panel>
  );
}
