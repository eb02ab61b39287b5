import { management } from '../../api.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { ElementPreview } from './element-preview.js';
import { ElementWebhook } from './element-webhook.js';

/** Preview and webhook of a stored element. */
export function ElementOperation({ elementKey }: { readonly elementKey: string }) {
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}', {
				path: { elements_config_id: elementKey },
				signal,
			}),
		[elementKey],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{(element) => (
				<>
					{mayWrite.value && <ElementPreview element={element} />}
					<ElementWebhook elementKey={element.key} url={element.webhook?.url ?? null} onSaved={loaded.reload} />
				</>
			)}
		</LoadedFrame>
	);
}
