import { useEffect, useRef } from 'preact/hooks';

/**
 * Does something again and again while the page is seen. A turn is left out while the work of the one before is under way,
 * as it says by `isBusy`: begun anew each time, what takes longer than a turn would never end.
 */
export function usePolling(work: () => void, milliseconds: number, isBusy: boolean): void {
	const newest = useRef({ work, isBusy });
	newest.current = { work, isBusy };
	useEffect(() => {
		const timer = setInterval(() => {
			if (document.visibilityState === 'visible' && !newest.current.isBusy) newest.current.work();
		}, milliseconds);
		return () => clearInterval(timer);
	}, [milliseconds]);
}
