import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "../link.ts";

interface Props {
  id: string;
  title: string;
  children: ComponentChildren;
}

export function Section({ id, title, children }: Props) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

/** A section whose content is made when somebody opens it, or follows a link to a picture in it, whose name begins with the section's. */
export function Folded({ id, title, summary, children }: Props & { summary: string }) {
  const [opened, setOpened] = useState(false);
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const follow = (): void => {
      const { panel } = read(location.hash);
      if (!panel?.startsWith(`${id}-`)) return;
      (details.current as HTMLDetailsElement).open = true;
      setOpened(true);
      requestAnimationFrame(() => document.getElementById(panel)?.scrollIntoView({ block: "center" }));
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [id]);
  return (
    <Section id={id} title={title}>
      <details ref={details} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
        <summary>{summary}</summary>
        {opened && children}
      </details>
    </Section>
  );
}
