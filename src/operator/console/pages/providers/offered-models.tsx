import { useState } from "preact/hooks";
import {
  addModels,
  listOfferedModels,
  type ProviderEntryView,
  type ProviderView,
} from "../../api/providers.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { Scroller } from "../../ui/scroller.tsx";
import { words } from "../../ui/words.ts";
import { formatDetails, listModels } from "./model-list.ts";
import { findIncomplete, findRemoved, findUnlisted, searchNames } from "./offered-names.ts";
import { texts } from "./texts.ts";

interface OfferedModelsProps {
  readonly provider: ProviderView;
  readonly onClose: () => void;
  /** Called with the changed provider and a message about the change. */
  readonly onListed: (provider: ProviderEntryView, message: string) => void;
}

/** Loads the models that a provider offers, and adds the selected ones to its list. */
export function OfferedModels({ provider, onClose, onListed }: OfferedModelsProps) {
  const { id, read_only } = provider;
  const models = listModels(provider);
  const { data, error, reload } = useLoaded((signal) => listOfferedModels(id, signal), id);
  const [needle, setNeedle] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [enabled, setEnabled] = useState(true);
  const listing = useAsyncAction();
  const offered = data?.models ?? [];
  const details = new Map(Object.entries(data?.details ?? {}));
  const unlisted = findUnlisted(offered, models);
  const unlistedNames = new Set(unlisted);
  // New models come first.
  const names = [...unlisted, ...offered.filter((name) => !unlistedNames.has(name))];
  const missing = data === null || read_only ? [] : findRemoved(offered, models);
  const incomplete = read_only ? [] : findIncomplete(models, details);
  const selectDetails = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const model = details.get(name);
        return model === undefined ? [] : [[name, model] as const];
      }),
    );
  const fill = async () => {
    const names = incomplete.map(({ upstream }) => upstream);
    await listing.run(async () => {
      const provider = await addModels(id, { models: names, details: selectDetails(names), fill: true });
      onListed(provider, texts.filled(words.modelCount(incomplete.length)));
    });
  };
  const list = (names: readonly string[]) => async () => {
    const done = await listing.run(async () => {
      const chosenDetails = selectDetails(names);
      const provider = await addModels(id, { models: names, details: chosenDetails, enabled });
      onListed(provider, texts.added(words.modelCount(names.length)));
    });
    if (done) onClose();
  };
  const choose = (name: string, selected: boolean) => {
    const next = new Set(chosen);
    if (selected) next.add(name);
    else next.delete(name);
    setChosen(next);
  };
  const renderDetails = (name: string) => {
    const model = details.get(name);
    return model !== undefined && <span class="muted details">{formatDetails(model)}</span>;
  };
  return (
    <Dialog title={texts.modelsOffers(id)} onClose={onClose}>
      <div class="dialog-body stack">
        <LoadState {...{ data, error, reload }} />
        {data !== null && offered.length === 0 && <p>{texts.offersNoModels}</p>}
        {offered.length > 0 && (
          <>
            {!read_only && (
              <p>
                {unlistedNames.size === 0
                  ? texts.allModelsAdded
                  : texts.notAddedYet(formatCount(unlistedNames.size), formatCount(offered.length))}
              </p>
            )}
            {missing.length > 0 && (
              <p class="notice warning">
                <span class="notice-text">
                  {texts.noLongerOffered} {missing.map(({ name }) => name).join(", ")}
                </span>
              </p>
            )}
            {incomplete.length > 0 && (
              <Notice
                kind="info"
                action={
                  <Button busy={listing.busy} onClick={() => void fill()}>
                    {texts.fillMissing(incomplete.length)}
                  </Button>
                }
              >
                {texts.lackKnownData(words.modelCount(incomplete.length))}
              </Notice>
            )}
            <TextField label={texts.filter} type="search" value={needle} onChange={setNeedle} />
            <Scroller label={texts.models} class="offered">
              <ul>
                {searchNames(names, needle).map((name) => (
                  <li key={name}>
                    {read_only ? (
                      <>
                        <span class="mono">{name}</span> {renderDetails(name)}
                      </>
                    ) : (
                      <label>
                        <input
                          type="checkbox"
                          checked={!unlistedNames.has(name) || chosen.has(name)}
                          disabled={!unlistedNames.has(name)}
                          onChange={(event) => choose(name, event.currentTarget.checked)}
                        />
                        <span class="mono">{name}</span>
                        {!unlistedNames.has(name) && <span class="muted">{texts.addedWord}</span>}
                        {renderDetails(name)}
                      </label>
                    )}
                  </li>
                ))}
              </ul>
            </Scroller>
            {unlistedNames.size > 0 && !read_only && (
              <CheckField
                label={texts.enabled}
                value={enabled}
                onChange={setEnabled}
                hint={texts.addedDisabledHint}
              />
            )}
            {read_only && <p class="hint">{texts.addedToVariablesHint}</p>}
          </>
        )}
        <Problem error={listing.error} />
      </div>
      <footer>
        <Button kind="quiet" onClick={onClose}>
          {texts.close}
        </Button>
        {!read_only && unlistedNames.size > 0 && (
          <>
            <Button busy={listing.busy} onClick={list([...unlistedNames])}>
              {texts.addAll(unlistedNames.size)}
            </Button>
            <Button
              kind="primary"
              busy={listing.busy}
              disabled={chosen.size === 0}
              onClick={list([...chosen])}
            >
              {texts.addSelected(chosen.size)}
            </Button>
          </>
        )}
      </footer>
    </Dialog>
  );
}
