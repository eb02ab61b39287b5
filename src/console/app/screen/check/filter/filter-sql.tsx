import { useId } from 'preact/hooks';
import type { Residual } from '../../../../../filter/residual.js';
import type { SqlDialectName } from '../../../../../filter/sql/to-sql.js';
import { valueText } from '../../../../model/check/attempt-words.js';
import type { WrittenSql } from '../../../../model/filter/write-filter-sql.js';
import { visibleText } from '../../../../model/visible-text.js';
import { management } from '../../../api.js';
import { CopyButton } from '../../../part/copy-button.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { FoldedRows } from '../../../part/table/folded-rows.js';
import { useSideData } from '../../../use-loaded.js';
import { useSearch } from '../../../use-search.js';

const dialects = {
	postgresql: 'PostgreSQL',
	mysql: 'MySQL and MariaDB',
	sqlserver: 'SQL Server',
	sqlite: 'SQLite',
} as const satisfies Readonly<Record<SqlDialectName, string>>;

interface FilterSqlProps {
	readonly condition: Residual;
	/** Resource key. */
	readonly resource: string;
}

/** A filter's condition as SQL. The SQL writer is loaded on first use. */
export function FilterSql({ condition, resource }: FilterSqlProps) {
	const search = useSearch();
	const title = useId();
	const dialect = readDialect(search.get('dialect'));
	const loaded = useSideData(
		async (signal) => {
			const [{ writeFilterSql }, types] = await Promise.all([
				import('../../../../model/filter/write-filter-sql.js'),
				readTypes(resource, signal),
			]);
			return writeFilterSql(condition, dialect, types);
		},
		[condition, dialect, resource],
	);
	return (
		<section aria-labelledby={title}>
			<div class="line filter-title">
				<h2 id={title}>SQL</h2>
				<select
					aria-label="Database"
					value={dialect}
					onChange={(event) => search.set({ dialect: event.currentTarget.value }, { replace: true })}
				>
					{Object.entries(dialects).map(([name, words]) => (
						<option key={name} value={name}>
							{words}
						</option>
					))}
				</select>
			</div>
			<LoadedFrame loaded={loaded}>
				{(written) =>
					typeof written === 'string' ? (
						<p class="failure" role="status">
							{visibleText(written)}
						</p>
					) : (
						<Written written={written} />
					)
				}
			</LoadedFrame>
		</section>
	);
}

function Written({ written: { sql, parameters, columns } }: { readonly written: WrittenSql }) {
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
			<section class="code filter-sql" tabIndex={0} aria-label="Condition for WHERE">
				{visibleText(sql)}
			</section>
			<CopyButton text={sql}>Copy SQL</CopyButton>
			<details open={parameters.length <= 5}>
				<summary>Parameters ({parameters.length.toLocaleString('en')})</summary>
				<FoldedRows rows={parameters}>
					{(shown) => (
						<ol>
							{shown.map((value, index) => (
								<li key={index}>
									<code class="key">{visibleText(valueText(value))}</code>
								</li>
							))}
						</ol>
					)}
				</FoldedRows>
			</details>
			<p class="quiet">
				The example assumes a table with the columns{' '}
				{columns.map(([attribute, column], index) => (
					<span key={attribute}>
						{index > 0 && ', '}
						<code>{column}</code> ({attribute})
					</span>
				))}
				. <code>toSql</code> in <code>@regolith/engine</code> generates it for your own columns.
			</p>
		</>
	);
}

function readDialect(text: string): SqlDialectName {
	return Object.hasOwn(dialects, text) ? (text as SqlDialectName) : 'postgresql';
}

/** Reads the types of a resource's attributes. Throws `ApiFailure`. */
async function readTypes(resource: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
	const { attributes = {} } = await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}', {
		path: { resource_id: resource },
		signal,
	});
	return new Map(Object.entries(attributes ?? {}).map(([key, { type }]) => [key, type]));
}
