import { config } from 'zod';

// Pages and edge runtimes may forbid code that is made of text. INVARIANT: this runs before any schema is made.
config({ jitless: true });
