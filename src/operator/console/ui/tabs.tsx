import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

/** One tab: id, name and content. */
export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly content: () => ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly onChange: (id: string) => void;
}

/** Tabs as in the ARIA Authoring Practices: arrow keys move between them. */
export function Tabs({ label, tabs, current, onChange }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const shown = tabs.find((tab) => tab.id === current) ?? tabs[0];
  if (shown === undefined) return null;
  const move = (by: number) => {
    const next = tabs[(tabs.indexOf(shown) + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    const button = list.current?.children[tabs.indexOf(next)];
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} ref={list}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => onChange(tab.id)}
            onKeyDown={(event) => {
              if (event.key === "ArrowRight") move(1);
              else if (event.key === "ArrowLeft") move(-1);
            }}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div class="tabpanel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown.id}`}>
        {shown.content()}
      </div>
    </div>
  );
}
