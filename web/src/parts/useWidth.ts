import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width of an element on the page, in whole pixels, as it changes; 0 before the element is there. */
export function useWidth<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const at = element.current as E;
    const measure = (): void => setWidth(Math.floor(at.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(at);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}
