"""Importance alignment: does a model look where people expect it to? (Prasad et al. 2021)"""
