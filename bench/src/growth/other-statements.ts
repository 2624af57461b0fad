/**
 * The statements that no schedule runs, by their cause. List a new statement here or among the
 * periodic ones.
 */
export const otherStatements: Readonly<Record<string, string>> = {
  'a delivery, or GitHub’s answer instead of one': `
    recordDeliveries compareBodies storeJobs storeNewJob readJobs bindRunners
    bindWorkers appendEvents recordFindings storeInstallations lockInstallations
    noteInstallations noteOtherRepositories pinLogins repairInstallations
    endRefusalsOfRepositories rememberLostDeliveries recordRedeliveryRequest wantExtraPasses
    forgetFoundOutKeys`,
  'a call of GitHub': 'createWaits',
  'a task about one worker or key, or its end': `
    findWorkerToProvision markRegistrationStarted clearRegistrationStarted saveRegistration
    saveRunnerGroup isPending savePod failUnstartedWorker findWorkerPlace saveDiagnosis
    findEndWithoutJob markOutdatedRunner markSecretDeleted findWorkerToStop markDeregistered
    markDeregistering mayStop changeWorker keepWorker keepForJob noteStopHeldUp noteRunsRead
    endStoppedWorker findFittingRuns noteRegistrationBudget recordRefusal
    noteKeyFailure noteKeySuccess enqueue enqueueAlone writeSettlements requeueTasks
    bringForward endTasks`,
  'a change in the cluster': 'recordPodStates adoptWorkers',
  'each row that a sweep has found': `
    saveRunnerReadings saveRunnerVersion saveVersionEnd requestStops noteLookUps noteHiddenJobs
    postponeLookUps askForLookUps findKnownJobs saveRepositoryListing postponeRepository
    noteListedRepositories endRefusals saveKeyStates reserveWarmWorkers`,
  'a change of the pools': `
    storePoolsDocument reconsiderJobs replaceWaitingJobs forgetFailuresOfChangedPools`,
  'the beginning and the end of an outage': 'noteAway noteBack confirmOutages',
  'a change of the configuration file': 'endRefusalsOfApp',
  'a start or an end of a process': `
    createFitness takeOverTasks lockMatching saveAppIds`,
  'a person': `
    setSwitch liftSwitch readTaskCounts enqueueAsked findInstallation readAnew lockFailed
    noteHandled drainWorkers countPoolToDrain findUnresolved noteResynced recordDone
    findSwitches findDrainState findMatchingSettings`,
};
