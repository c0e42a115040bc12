import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width in pixels at which a drawing's margins fit. */
const LEAST = 120;

/** Width of an element on the page, in whole pixels, as it changes; 0 before the element is there and while nothing can be drawn in it. */
export function useWidth<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const at = element.current as E;
    const measure = (): void => setWidth(at.clientWidth < LEAST ? 0 : Math.floor(at.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(at);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}
