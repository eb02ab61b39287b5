import { useEffect, useRef } from 'preact/hooks';

/** Does something again and again while the page is seen. */
export function usePolling(work: () => void, milliseconds: number): void {
	const newest = useRef(work);
	newest.current = work;
	useEffect(() => {
		const timer = setInterval(() => {
			if (document.visibilityState === 'visible') newest.current();
		}, milliseconds);
		return () => clearInterval(timer);
	}, [milliseconds]);
}
