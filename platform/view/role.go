package view

import "time"

// roleEpoch is when the built-in roles were made: with the first version of the interface that Plaza serves.
var roleEpoch = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
