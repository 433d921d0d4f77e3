// What the server says, and what the steps share, as types: nothing here is run. The
// words about the values are in the docstring of credalis.app.

/**
 * What was chosen; what is null is left to the library.
 * @typedef {Object} Settings
 * @property {Record<string, Role>} roles of columns whose role is not the usual one
 * @property {string | null} scale
 * @property {string | null} missing
 * @property {string | null} sheet
 * @property {string | null} delimiter
 * @property {string | null} decimal
 * @property {boolean} precomputed
 * @property {number | null} n_clusters
 * @property {number | null} n_neighbors
 * @property {number} quantile
 * @property {number[]} centers rows of the table
 * @property {boolean} uses_centers
 * @property {string | null} method
 * @property {string[]} parameters
 * @property {number | null} outlier_rate
 * @property {number | null} clear_level
 * @property {number} seed
 */

/** @typedef {"counts" | "describes" | "out" | "id"} Role */

/** @typedef {"same" | "different" | "unknown"} Said */

/** @typedef {{id: number, kind: "pair", a: number, b: number, answer: Said}} PairAnswer */

/** @typedef {{id: number, kind: "group", name: string, rows: number[]}} GroupAnswer */

/** @typedef {PairAnswer | GroupAnswer} Answer */

/**
 * A fit, however it has ended.
 * @typedef {Object} AnyRun
 * @property {number} number
 * @property {string} id
 * @property {Settings} settings
 * @property {number} n_answers
 * @property {number | null} before number of the result that it is compared with
 */

/**
 * What a fit has found.
 * @typedef {Object} Notes
 * @property {string} command
 * @property {string} method
 * @property {number} n_clusters
 * @property {Record<string, unknown>} facts
 * @property {string[]} warnings
 * @property {string[]} notes
 * @property {string[]} files
 * @property {string} centers_as
 * @property {number} seconds
 */

/** @typedef {AnyRun & Notes & {status: "done"}} DoneRun */

/** @typedef {AnyRun & {status: "failed", error: string}} FailedRun */

/** @typedef {AnyRun & {status: "running" | "cancelled" | "interrupted"}} OtherRun */

/** @typedef {DoneRun | FailedRun | OtherRun} Run */

/**
 * How far something is.
 * @typedef {Object} Progress
 * @property {string} stage
 * @property {number | null} share
 * @property {number} [run]
 * @property {number} [n_runs]
 * @property {number} [iteration]
 * @property {number} [max_iter]
 * @property {number | null} [loss]
 */

/**
 * What is being computed.
 * @typedef {Object} Job
 * @property {number} id
 * @property {"fit" | "recommendation"} kind
 * @property {number} started
 * @property {Progress} event
 * @property {[number, number][]} losses pairs of iteration and loss
 * @property {boolean} is_cancelled
 * @property {number} [run] number of the fit
 */

/** @typedef {{name: string, value: number | null, reason: string}} Vote */

/** @typedef {{best: null, reason: string, votes: Vote[], notes: string[]}} NoNumber */

/**
 * How many clusters are recommended, and why.
 * @typedef {Object} SomeNumber
 * @property {number} best
 * @property {string} reason
 * @property {number | null} [p_value]
 * @property {number[]} numbers
 * @property {Record<string, (number | null)[]>} curves
 * @property {Vote[]} votes
 * @property {string[]} notes
 */

/** @typedef {NoNumber | SomeNumber} Recommendation */

/** @typedef {{name: string, size: number, usual: Record<string, Role>}} Table */

/**
 * @typedef {Object} State
 * @property {number} format
 * @property {number} version
 * @property {Table | null} table
 * @property {Settings} settings
 * @property {Answer[]} answers
 * @property {Run[]} runs
 * @property {Recommendation | null} recommendation
 * @property {Job | null} job
 * @property {boolean} is_reopened
 * @property {number} max_upload bytes
 */

/**
 * @typedef {Object} Column
 * @property {string} name
 * @property {string} kind
 * @property {Role} role
 * @property {string} why
 * @property {number | null} n_missing
 */

/**
 * A table before anything is computed.
 * @typedef {Object} Preview
 * @property {string} format
 * @property {number | null} n_rows
 * @property {string[][]} rows
 * @property {string | null} problem
 * @property {string[]} decisions
 * @property {string[]} warnings
 * @property {string | null} method
 * @property {boolean} is_gower
 * @property {number} n_dropped
 * @property {Column[]} columns
 */

/** @typedef {"labels" | "pairs" | "start" | ""} CentersAs */

/**
 * @typedef {Object} Method
 * @property {string} name
 * @property {string} title
 * @property {string} words
 * @property {boolean} finds_number
 * @property {boolean} uses_labels
 * @property {boolean} uses_pairs
 * @property {boolean} needs_pairs
 * @property {boolean} is_for_many_rows
 * @property {CentersAs} centers
 */

/**
 * @typedef {Object} Methods
 * @property {string} default
 * @property {string} default_of_mixed
 * @property {Record<CentersAs, string>} centers
 * @property {Method[]} methods
 */

/**
 * The δ–Bel graph. Objects are numbered as in the graph.
 * @typedef {Object} Peaks
 * @property {number[]} delta
 * @property {number[]} belief
 * @property {number[]} rows
 * @property {string[]} names
 * @property {boolean} has_names
 * @property {number[]} ranked objects that look like centres, the best first
 * @property {number} n_suggested
 * @property {number} n_neighbors
 * @property {number} most_neighbors
 * @property {number} quantile
 * @property {number} n_rows
 */

/** @typedef {{name: string, value: string, note: string, color: string | null}} Fact */

/**
 * One cluster.
 * @typedef {Object} Card
 * @property {number} cluster
 * @property {string} name
 * @property {string} color
 * @property {string} dark_color
 * @property {string} sizes
 * @property {string} clear_width
 * @property {string} between_width
 * @property {string} words
 * @property {string} described
 * @property {{share: string, note: string}[]} known
 * @property {number[]} typical objects
 * @property {number} lower
 * @property {number} upper
 */

/**
 * Objects that a reader should look at.
 * @typedef {Object} Listed
 * @property {string} text
 * @property {{object: number, why: string, doubt: number, masses: {set: string, mass: number}[]}[]} objects
 */

/**
 * @typedef {Object} Shepard
 * @property {number[]} targets
 * @property {number[]} conflicts
 * @property {number} residual
 * @property {number} scale
 * @property {string} shown
 */

/** @typedef {{clear: number, between: number, outliers: number}} Tally */

/**
 * What is otherwise than in the result before.
 * @typedef {Object} Changes
 * @property {number} n_rows
 * @property {number} n_moved
 * @property {number[]} moved the first of them
 * @property {number[]} all_moved
 * @property {Tally} before
 * @property {Tally} after
 * @property {number} n_clearer
 * @property {number} n_vaguer
 * @property {[number, number]} n_clusters
 */

/**
 * The file result.json.
 * @typedef {Object} ResultFile
 * @property {string} lead
 * @property {string} how
 * @property {Fact[]} facts
 * @property {string[]} silences
 * @property {string} method
 * @property {number} n_objects
 * @property {number} n_clusters
 * @property {string[] | null} cluster_names
 * @property {string[]} colors
 * @property {string[]} dark_colors
 * @property {boolean} has_sets
 * @property {number} clear_level
 * @property {{name: string}[]} axes
 * @property {Card[]} clusters
 * @property {Listed} between
 * @property {Listed} outliers
 * @property {Shepard | null} shepard
 * @property {number[]} history
 * @property {Changes | null} changes
 * @property {string[]} decisions
 * @property {boolean} is_gower
 */

/** The file names.json. @typedef {{names: string[], has_names: boolean}} Names */

/**
 * Arrays with an entry for each object.
 * @typedef {Object} Arrays
 * @property {Int32Array} rows
 * @property {Int32Array} labels
 * @property {Int32Array} second the cluster that is most plausible but for the label
 * @property {Int32Array} kinds 0 clear, 1 between, 2 an outlier
 * @property {Float32Array} doubt
 * @property {Uint32Array | null} sets bit k: cluster k is in the set
 */

/**
 * A result with what belongs to it.
 * @typedef {Object} WithArrays
 * @property {number} number
 * @property {string} id
 * @property {string[]} light colours on a light page
 * @property {Names} names
 * @property {Arrays} arrays
 * @property {(j: number) => Promise<Float32Array>} axis
 * @property {(i: number) => string} title
 * @property {(k: number) => string} cluster
 */

/** @typedef {ResultFile & WithArrays} Result */

/** @typedef {{column: string, value: string, typical: string}} Reason */

/** @typedef {{set: string, clusters: number[], mass: number}} Mass */

/**
 * A cluster that competes for an object.
 * @typedef {Object} Near
 * @property {number} cluster
 * @property {number} plausibility
 * @property {Reason[]} for
 * @property {Reason[]} against
 * @property {number[]} like
 */

/**
 * All about one object.
 * @typedef {Object} Found
 * @property {number} object
 * @property {number} row
 * @property {string} name
 * @property {number} doubt
 * @property {Mass[]} masses
 * @property {string} why
 * @property {Near[]} near
 * @property {Reason[]} unusual
 * @property {{column: string, value: string}[]} cells
 */

/** The partition in a few questions. @typedef {{lines: string[], caption: string}} Tree */

/** @typedef {{object: number, row: number, name: string}} Asked */

/**
 * Two objects side by side.
 * @typedef {Object} Question
 * @property {Asked} a
 * @property {Asked} b
 * @property {number} same
 * @property {number} different
 * @property {{column: string, a: string, b: string, differs: boolean}[]} cells
 */

/** @typedef {{pairs: Question[]}} Questions */

/**
 * A step of the page.
 * @typedef {Object} Step
 * @property {HTMLElement} element
 * @property {(state: State) => boolean} update after a change; whether it can be used
 * @property {(state: State) => void} [tick] while something is computed
 */

/**
 * What steps share.
 * @typedef {Object} App
 * @property {State | null} state
 * @property {Result | null} result what is shown
 * @property {number[]} selection objects that are chosen on the map
 * @property {number} focus the object that is looked at, or -1
 * @property {Methods} [methods]
 * @property {string | null} [method] the one that is taken if none is chosen
 * @property {(text: string) => void} say
 * @property {(action: () => Promise<unknown>) => Promise<unknown>} attempt what is wrong is shown
 * @property {(error: unknown) => void} fail
 * @property {() => void} clear
 * @property {(values: Partial<Settings>) => Promise<unknown>} set
 * @property {() => DoneRun[]} results
 * @property {(number: number) => Promise<void>} open
 * @property {(objects: number[]) => void} select
 * @property {(object: number) => void} look
 * @property {() => void} update
 */

export {};
