import { answered, management } from '../../api.js';
import { DataTable } from '../../part/data-table.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { screenPath } from '../../screen-path.js';
import { environmentPath, mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { ElementPreview } from './element-preview.js';
import { elementTypes } from './element-types.js';
import { ElementWebhook } from './element-webhook.js';

/** Element page: the element's levels, its settings, a preview as a user, and its webhook. */
export function ElementDetail({ elementKey }: { readonly elementKey: string }) {
	const loaded = useLoaded(
		(signal) =>
			answered(
				management.GET('/v2/elements/{proj_id}/{env_id}/config/{elements_config_id}', {
					params: { path: { ...environmentPath(), elements_config_id: elementKey } },
					signal,
				}),
			),
		[elementKey],
	);
	return (
		<>
			<p>
				<a href={screenPath('elements')}>All elements</a>
			</p>
			<LoadedFrame loaded={loaded}>
				{(element) => {
					const levels = Object.entries(element.roles_to_levels).filter(([, roles]) => (roles ?? []).length > 0);
					return (
						<>
							<h2>
								<KeyText text={element.name} />
							</h2>
							<p>
								{elementTypes[element.elements_type]}, key <KeyText text={element.key} />.
							</p>
							<h3>Levels</h3>
							{levels.length === 0 ? (
								<p class="quiet">No roles have a level in this element.</p>
							) : (
								<DataTable
									caption="Roles by level, highest first"
									rows={levels}
									rowKey={([level]) => level}
									columns={[
										{ title: 'Level', cell: ([level]) => level.replace('_', ' ').toLowerCase() },
										{
											title: 'Roles',
											cell: ([, roles]) => <KeyText text={(roles ?? []).map(({ key }) => key).join(', ')} />,
										},
									]}
								/>
							)}
							<h3>Settings</h3>
							{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
							<pre class="code" tabIndex={0}>
								{JSON.stringify(element.settings, null, 2)}
							</pre>
							{mayWrite.value && <ElementPreview element={element} />}
							<h3>Webhook</h3>
							{element.webhook === null ? (
								<p class="quiet">No webhook is configured.</p>
							) : (
								<ElementWebhook elementKey={element.key} url={element.webhook.url} />
							)}
						</>
					);
				}}
			</LoadedFrame>
		</>
	);
}
