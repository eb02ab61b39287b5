import { conditionPhrases } from '../../../../model/grant-condition.js';
import { type HeldRole, rolesByTenant, sourceText } from '../../../../model/held-role.js';
import { visibleText } from '../../../../model/visible-text.js';
import { readConditionalRoles, readHeldRoles } from '../../../held-roles.js';
import { Empty } from '../../../part/empty.js';
import { Combobox } from '../../../part/field/combobox.js';
import { KeyText } from '../../../part/key-text.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { PhraseText } from '../../../part/phrase-text.js';
import { FoldedTable } from '../../../part/table/data-table.js';
import { actionColumn } from '../../../part/table/paged-table.js';
import { TimeText } from '../../../part/time-text.js';
import { proposeTenants } from '../../../propose.js';
import { screenPath } from '../../../screen-path.js';
import { useLoaded } from '../../../use-loaded.js';
import { useSearch } from '../../../use-search.js';
import { ObjectLink } from '../object-link.js';
import { RemoveRole } from '../remove-role.js';

const sources = { direct: '', group: 'group', derived: 'derived', computed: 'computed' } as const;

/** A user's roles, grouped by tenant. Each role has its source. */
export function UserRoles({ user }: { readonly user: string }) {
	const search = useSearch();
	const tenant = search.get('tenant');
	const loaded = useLoaded((signal) => readRoles(user, tenant || null, signal), [user, tenant]);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, truncated }) => (
				<>
					{(truncated || tenant !== '') && (
						<Combobox
							label="Filter by tenant"
							placeholder="All"
							{...search.filter('tenant')}
							propose={proposeTenants}
						/>
					)}
					{data.length === 0 ? (
						<Empty title={tenant === '' ? 'No roles' : `No roles in ${tenant}`}>
							<p>Checks are denied unless a condition set matches the user.</p>
						</Empty>
					) : (
						<FoldedTable
							caption={`Roles of ${user}`}
							stacked
							rows={rolesByTenant(data).flatMap(({ roles }) => roles)}
							rowKey={(held) =>
								[held.role, held.tenant, held.resource_instance, held.source, held.condition?.set].join(' ')
							}
							columns={[
								{ title: 'Role', cell: ({ role }) => <KeyText text={role} /> },
								{ title: 'Tenant', cell: (held) => <ObjectLink tab="tenants" name={held.tenant} /> },
								{
									title: 'Scope',
									cell: ({ resource_instance }) =>
										resource_instance === null ? (
											<span class="quiet">tenant</span>
										) : (
											<ObjectLink tab="instances" name={resource_instance} />
										),
								},
								{
									title: 'Source',
									cell: (held) => (
										<>
											{held.source !== 'direct' && <span class="badge">{sources[held.source]}</span>}{' '}
											{visibleText(sourceText(held))}{' '}
											{held.condition !== undefined && (
												<>
													under <PhraseText phrases={conditionPhrases(held.condition)} />
												</>
											)}
											{['group', 'derived'].includes(held.source) && held.resource_instance !== null && (
												<a
													href={screenPath('graph', {
														mode: 'path',
														from: `user:${user}`,
														to: `instance:${held.resource_instance}#${held.role}`,
													})}
												>
													Show path
												</a>
											)}
										</>
									),
								},
								{
									title: 'Expires',
									cell: ({ expires_at }) => (expires_at === undefined ? 'never' : <TimeText at={expires_at} />),
								},
								...actionColumn(
									(held: HeldRole) =>
										held.source === 'direct' && (
											<RemoveRole
												user={user}
												role={held.role}
												tenant={held.tenant}
												instance={held.resource_instance}
												set={held.condition?.set}
											/>
										),
								),
							]}
						/>
					)}
					{truncated && <p class="notice">Not all roles are shown. Filter by tenant.</p>}
				</>
			)}
		</LoadedFrame>
	);
}

/** Reads a user's effective roles, and the roles that the user holds under conditions. */
async function readRoles(user: string, tenant: string | null, signal: AbortSignal) {
	const [held, conditional] = await Promise.all([
		readHeldRoles(user, tenant, signal),
		readConditionalRoles(user, tenant, signal),
	]);
	return { data: [...held.data, ...conditional.data], truncated: held.truncated || conditional.truncated };
}
