package service

// DefaultFlagReason stands in where a flag names none.
const DefaultFlagReason = "Others"
