import { Section } from '../../../../part/section.js';
import { management } from '../../../api.js';
import { KeyText } from '../../../part/key-text.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { DataTable } from '../../../part/table/data-table.js';
import { TimeText } from '../../../part/time-text.js';
import { screenPath } from '../../../screen-path.js';
import { useLoaded } from '../../../use-loaded.js';

const shown = 10;

/** The latest decisions about a user. Each has a link to its check. */
export function UserDecisions({ user }: { readonly user: string }) {
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/pdps/{proj_id}/{env_id}/audit_logs', { query: { users: [user], per_page: shown }, signal }),
		[user],
	);
	return (
		<Section id="decisions" title="Recent decisions">
			<LoadedFrame loaded={loaded}>
				{({ data }) =>
					data.length === 0 ? (
						<p class="quiet">No decisions logged. The setting PDP_DECISION_LOG controls decision logging.</p>
					) : (
						<>
							<DataTable
								caption={`Recent decisions for ${user}`}
								rows={data}
								rowKey={({ id }) => id}
								columns={[
									{ title: 'Time', cell: ({ timestamp }) => <TimeText at={timestamp} /> },
									{
										title: 'Decision',
										cell: ({ decision, reason }) => (
											<>
												<span class={`badge ${decision === true ? 'good' : 'bad'}`}>
													{decision === true ? 'allowed' : 'denied'}
												</span>{' '}
												{decision !== true && reason !== null && <KeyText text={reason} />}
											</>
										),
									},
									{ title: 'Action', cell: ({ action }) => <KeyText text={action ?? ''} /> },
									{ title: 'Resource', cell: (row) => <KeyText text={askedResource(row)} /> },
									{ title: 'Tenant', cell: ({ tenant }) => <KeyText text={tenant ?? ''} /> },
									{
										title: 'Explain',
										align: 'end',
										cell: (row) => {
											const { action, tenant } = row;
											const asked = { user, action: action ?? '', resource: askedResource(row), tenant: tenant ?? '' };
											return <a href={screenPath('check', asked)}>Check</a>;
										},
									},
								]}
							/>
							<p>
								<a href={screenPath('decisions', { user })}>All decisions for {user}</a>
							</p>
						</>
					)
				}
			</LoadedFrame>
		</Section>
	);
}

/** Returns a check's resource: `<resource>:<key>`, or the resource type alone. */
function askedResource({ resource_type, input }: { readonly resource_type: string | null; readonly input?: unknown }) {
	const { resource } = (input ?? {}) as { readonly resource?: { readonly key?: unknown } | null };
	const key = resource?.key;
	return typeof key === 'string' && key !== '' ? `${resource_type}:${key}` : (resource_type ?? '');
}
