package journal

// Types lists the types of entries.
func Types() []Type {
	return []Type{
		TaskCreated, TaskUpdated, TaskQueued, TaskPaused, TaskResumed, TaskTampered, TaskDeleted, StatusChanged,
		AutoAdvanced, AgentSpawned, AgentExited, AgentCrashed, AgentLost, AgentNotBegun, AgentRespawn, AgentOverdue,
		AgentNotice, AgentLimited, AgentNudged, AgentSilent, AgentAnswered, AgentMessaged, AgentStopped, AgentUndone, AgentRestate, WorkFailed,
		CardSeen, PRClosed, EffectAsked, EffectDone, EffectFailed, EffectGaveUp, AskedPerson, EntryLost,
		TaskRestored, CheckAsked, CheckEnded, CheckHeld, ChangesApproved, PredecessorMoved,
		LandingBuilt, LandingMoved, LandingEnded, LandingLeft,
	}
}
