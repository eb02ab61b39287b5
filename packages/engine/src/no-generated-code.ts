import { config } from 'zod';

// Pages and edge runtimes may forbid code generated from strings. INVARIANT: this runs before any schema is created.
config({ jitless: true });
