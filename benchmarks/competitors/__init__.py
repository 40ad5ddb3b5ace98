"""Competitors of the papers, each in a file of its own, all called the same way.

==========================  =====================================================================================
``allrelevant``             this library: ``allrelevant``, ``allrelevant_implicit``, ``allrelevant_papers``,
                            ``allrelevant_groups``, ``allrelevant_reference``, ``forest``,
                            ``forest_refit``, ``forest_refit_training``
``fri``                     fri 9.0.0: ``fri``, ``fri_groups``
``boruta``                  BorutaPy 0.4.3: ``boruta``
``squamish``                the thesis' forests: ``squamish``
``arfs``                    arfs 3.0.0: ``grootcv``, ``leshy``
``linear_models``           one linear model: ``ridge``, ``lasso``, ``elastic_net``, ``lasso_cv``; for speed
                            ``elastic_net_path``
``stability_selection``     sparse models of half the samples: ``stability_selection``; with a bound on the number of
                            false ones ``randomised_lasso``, ``randomised_lasso_one``
``efs``                     ensemble of rankings: ``efs``
``rfecv``                   backward elimination: ``rfecv_elastic_net``, ``rfecv_forest``, ``rfecv_ordinal``
``ipss``                    IPSS 1.1.13: ``ipss_l1``, ``ipss_boosted``
``hidimstat``               hidimstat 0.4.0: ``dcrt``, ``knockoffs``
``groupings``               clusters of columns: ``correlation_groups``, ``hdbscan_groups``
==========================  =====================================================================================

An adapter has ``REQUIREMENTS``, those of an environment of its own in the words of pip, none if it runs in that of the
benchmarks, and ``METHODS``: functions of the problem type (``"classification"``, ``"regression"``, ``"ordinal"``), the
samples, the target and a seed. They return a dictionary that JSON can hold: ``classes`` (0 irrelevant, 1 relevant or
weak, 2 strong where the method tells) or, if they cluster features, ``labels``; where there are such,
``training_score`` (of the method's own model on the samples it was fitted to: the accuracy of classifications, the
macro-averaged error of ordered classes), ``cross_validated``, ``tentative``, ``note`` and others. A method that cannot
do a problem says so by an error.

Adapters are imported where nothing but the packages of the competitor is installed: at the top level they need no
other package than NumPy.

``calling.call`` is the entrance; ``child`` is what runs in processes of their own.
"""
