import { useEffect, useState } from 'preact/hooks';
import type { GraphDrawingProps } from './graph-drawing.js';

type Drawing = typeof import('./graph-drawing.js').GraphDrawing;

/** Graph drawing, shown after the layout code is loaded. The tables below it are shown immediately. */
export function LazyDrawing(props: GraphDrawingProps) {
	const [loaded, setLoaded] = useState<{ readonly Drawing: Drawing } | null>(null);
	useEffect(() => {
		let isCurrent = true;
		void import('./graph-drawing.js').then(({ GraphDrawing }) => {
			if (isCurrent) setLoaded({ Drawing: GraphDrawing });
		});
		return () => {
			isCurrent = false;
		};
	}, []);
	return loaded === null ? <p class="quiet">Loading the graph…</p> : <loaded.Drawing {...props} />;
}
