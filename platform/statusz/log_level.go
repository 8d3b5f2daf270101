package statusz

// LogLevel is the minimum level of log records: debug, info, warn or error.
type LogLevel struct {
	Current    string `json:"current"`
	Configured string `json:"configured"` // with which the server started
}

// Wanted returns the level that a request for level leads to.
func (l LogLevel) Wanted(level string) string {
	if level == "" {
		return l.Configured
	}
	return level
}

// LogLevelRequest changes the level of the log until the process ends. An empty Level is the configured one.
type LogLevelRequest struct {
	Level string `json:"level"`
}
